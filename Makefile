.PHONY: help build run test race fuzz nightly ci tidy docs bench

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 8

build: ## build bin/runner (a plain `go build ./cmd/runner` would collide with the folder runner/)
	go build -o bin/ ./cmd/runner

run: ## run the example plan
	go run ./cmd/runner run plans/orders.yaml

test: ## the ordinary tests
	go test ./...

race: ## the tests under the race detector, in random order
	go test -race -shuffle=on ./...

fuzz: ## every fuzz target for a minute
	.ci/fuzz 1m

nightly: ## every fuzz target for ten minutes
	.ci/fuzz 10m

tidy: ## the rails of the source tree
	go test ./cmd/tidy/...

docs: ## renew the reference pages, and the schema that editors read beside the plans
	go run ./cmd/runner docs
	cp docs/reference/plan.schema.json plans/plan.schema.json

bench: ## time CSV query a against other engines (installs them into bench/.venv)
	go run ./bench

ci: ## exactly what CI runs
	bash .ci/run

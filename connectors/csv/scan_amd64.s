#include "textflag.h"

// func scanAVX2(p *byte, blocks int, delimiter, quotes byte, seps, nls, quoteMask *uint64)
//
// A block is two 32-byte vectors; each comparison gives two 32-bit masks that are put together.
TEXT ·scanAVX2(SB), NOSPLIT, $0-48
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	VPBROADCASTB delimiter+16(FP), Y0
	VPBROADCASTB quotes+17(FP), Y1
	MOVQ $10, AX
	MOVQ AX, X2
	VPBROADCASTB X2, Y2
	MOVQ seps+24(FP), DI
	MOVQ nls+32(FP), R8
	MOVQ quoteMask+40(FP), R9
	TESTQ CX, CX
	JZ   done

loop:
	VMOVDQU (SI), Y3
	VMOVDQU 32(SI), Y4

	VPCMPEQB  Y3, Y2, Y5
	VPCMPEQB  Y4, Y2, Y6
	VPMOVMSKB Y5, AX
	VPMOVMSKB Y6, BX
	SHLQ      $32, BX
	ORQ       AX, BX
	MOVQ      BX, (R8)

	VPCMPEQB  Y3, Y0, Y5
	VPCMPEQB  Y4, Y0, Y6
	VPMOVMSKB Y5, AX
	VPMOVMSKB Y6, DX
	SHLQ      $32, DX
	ORQ       AX, DX
	ORQ       BX, DX
	MOVQ      DX, (DI)

	VPCMPEQB  Y3, Y1, Y5
	VPCMPEQB  Y4, Y1, Y6
	VPMOVMSKB Y5, AX
	VPMOVMSKB Y6, DX
	SHLQ      $32, DX
	ORQ       AX, DX
	MOVQ      DX, (R9)

	ADDQ $64, SI
	ADDQ $8, DI
	ADDQ $8, R8
	ADDQ $8, R9
	DECQ CX
	JNZ  loop

done:
	VZEROUPPER
	RET

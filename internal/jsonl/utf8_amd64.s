//go:build !purego

#include "textflag.h"
#include "utf8_amd64.h"

// func validUTF8Wide(p []byte) bool
TEXT ·validUTF8Wide(SB), NOSPLIT, $0-25
	MOVQ p_base+0(FP), SI
	MOVQ p_len+8(FP), CX
	ADDQ SI, CX          // the end

	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10

step:
	CMPQ      SI, CX
	JAE       end
	VMOVDQU   (SI), Y3
	ADDQ      $32, SI
	VPMOVMSKB Y3, AX
	TESTL     AX, AX
	JZ        ascii
	UTF8(Y3)
	JMP       step

ascii:
	VPOR  Y10, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y8, Y8, Y8
	JMP   step

end:
	VPTEST Y9, Y9
	SETEQ  ret+24(FP)
	VZEROUPPER
	RET

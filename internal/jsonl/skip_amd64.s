//go:build !purego

#include "textflag.h"

DATA quotes<>+0(SB)/8, $0x2222222222222222
DATA quotes<>+8(SB)/8, $0x2222222222222222
DATA quotes<>+16(SB)/8, $0x2222222222222222
DATA quotes<>+24(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $32

DATA backslashes<>+0(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslashes<>+8(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslashes<>+16(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslashes<>+24(SB)/8, $0x5c5c5c5c5c5c5c5c
GLOBL backslashes<>(SB), RODATA|NOPTR, $32

DATA controls<>+0(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA controls<>+8(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA controls<>+16(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA controls<>+24(SB)/8, $0x1f1f1f1f1f1f1f1f
GLOBL controls<>(SB), RODATA|NOPTR, $32

// func skipWide(p []byte) (n int, nonASCII bool)
TEXT ·skipWide(SB), NOSPLIT, $0-33
	MOVQ  p_base+0(FP), SI
	MOVQ  p_len+8(FP), CX
	XORL  AX, AX     // n
	XORL  BX, BX     // not 0: a plain byte has its high bit set
	MOVQ  CX, DI
	ANDQ  $-32, DI   // where the whole steps end
	JZ    bytes
	VPXOR Y4, Y4, Y4 // the bytes of all steps without a hit, or-ed

step:
	VMOVDQU   (SI)(AX*1), Y0
	VPCMPEQB  quotes<>(SB), Y0, Y1
	VPCMPEQB  backslashes<>(SB), Y0, Y2
	VPMINUB   controls<>(SB), Y0, Y3
	VPCMPEQB  Y0, Y3, Y3  // min(c, 0x1f) is c
	VPOR      Y1, Y2, Y2
	VPOR      Y2, Y3, Y3
	VPMOVMSKB Y3, DX
	TESTL     DX, DX
	JNZ       hit
	VPOR      Y0, Y4, Y4
	ADDQ      $32, AX
	CMPQ      AX, DI
	JB        step
	VPMOVMSKB Y4, BX
	VZEROUPPER

bytes: // less than a step is left
	CMPQ    AX, CX
	JAE     done
	MOVBLZX (SI)(AX*1), DX
	CMPL    DX, $0x20
	JB      done
	CMPL    DX, $0x22
	JEQ     done
	CMPL    DX, $0x5c
	JEQ     done
	ANDL    $0x80, DX
	ORL     DX, BX
	INCQ    AX
	JMP     bytes

hit:
	VPMOVMSKB Y0, BX
	LEAL      -1(DX), R8
	XORL      DX, R8     // the bits up to the hit's, which is 0 in BX
	ANDL      R8, BX
	BSFL      DX, DX
	ADDQ      DX, AX
	VPMOVMSKB Y4, DX
	ORL       DX, BX
	VZEROUPPER

done:
	MOVQ  AX, n+24(FP)
	TESTL BX, BX
	SETNE nonASCII+32(FP)
	RET

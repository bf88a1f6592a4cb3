//go:build !purego

#include "textflag.h"
#include "index_amd64.h"
#include "utf8_amd64.h"

#define BYTES(name, v) \
	DATA name<>+0(SB)/8, $v; DATA name<>+8(SB)/8, $v; \
	DATA name<>+16(SB)/8, $v; DATA name<>+24(SB)/8, $v; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

BYTES(quote, 0x2222222222222222)
BYTES(slash, 0x5c5c5c5c5c5c5c5c)
BYTES(control, 0x1f1f1f1f1f1f1f1f)
BYTES(letterB, 0x6262626262626262)
BYTES(letterU, 0x7575757575757575)
BYTES(solidus, 0x2f2f2f2f2f2f2f2f)
BYTES(digit0, 0x3030303030303030)
BYTES(ten, 0x0909090909090909)
BYTES(lower, 0x2020202020202020)
BYTES(letterA, 0x6161616161616161)
BYTES(six, 0x0505050505050505)

// MASK makes a bit of each of the 64 bytes in a and b.
#define MASK(a, b, dst, tmp) \
	VPMOVMSKB a, dst; \
	VPMOVMSKB b, tmp; \
	SHLQ      $32, tmp; \
	ORQ       tmp, dst

// PLACE writes the place of the lowest bit of BX, and takes it away.
#define PLACE(at) \
	TZCNTQ BX, AX; \
	ADDL   R13, AX; \
	MOVL   AX, at(DI); \
	BLSRQ  BX, BX

// HEX makes all ones of the bytes of src that are hexadecimal digits. It uses Y3 and Y5.
#define HEX(src, dst) \
	VPSUBB   digit0<>(SB), src, dst; \
	VPMINUB  ten<>(SB), dst, Y3; \
	VPCMPEQB dst, Y3, dst; \
	VPOR     lower<>(SB), src, Y3; \
	VPSUBB   letterA<>(SB), Y3, Y3; \
	VPMINUB  six<>(SB), Y3, Y5; \
	VPCMPEQB Y3, Y5, Y3; \
	VPOR     Y3, dst, dst

// func index256(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int)
//
// Y11 to Y15 are constants; the other registers are as index_amd64.h has them.
TEXT ·index256(SB), NOSPLIT, $0-64
	LOAD
	VMOVDQU 32(AX), Y8
	VMOVDQU 64(AX), Y10
	VPXOR   Y9, Y9, Y9
	VMOVDQU letterB<>(SB), Y11
	VMOVDQU simple<>(SB), Y12
	VMOVDQU control<>(SB), Y13
	VMOVDQU slash<>(SB), Y14
	VMOVDQU quote<>(SB), Y15

step:
	VMOVDQU  (SI), Y0
	VMOVDQU  32(SI), Y1
	VPCMPEQB Y0, Y14, Y2
	VPCMPEQB Y1, Y14, Y3
	MASK(Y2, Y3, BX, AX) // backslashes
	MOVQ     BX, (R8)
	ADDQ     $8, R8
	VPCMPEQB Y0, Y15, Y2
	VPCMPEQB Y1, Y15, Y3
	MASK(Y2, Y3, DX, AX) // quotes

	ESCAPED

	ANDNQ      DX, R14, BX // the quotes that begin and end strings
	VMOVQ      BX, X4
	VPCMPEQB   X5, X5, X5
	VPCLMULQDQ $0, X5, X4, X4 // a bit from each of them to the next: in a string

	VPSHUFB  Y0, Y12, Y2
	VPCMPEQB Y0, Y2, Y2
	VPCMPEQB Y0, Y11, Y3
	VPOR     Y2, Y3, Y2
	VPSHUFB  Y1, Y12, Y3
	VPCMPEQB Y1, Y3, Y3
	VPCMPEQB Y1, Y11, Y5
	VPOR     Y3, Y5, Y3
	VPMOVMSKB Y2, AX
	ORQ      AX, DX
	VPMOVMSKB Y3, AX
	SHLQ     $32, AX
	ORQ      AX, DX      // all that may follow a backslash, but u and the slash
	RARE

control:
	VPMINUB  Y0, Y13, Y2
	VPCMPEQB Y0, Y2, Y2
	VPMINUB  Y1, Y13, Y3
	VPCMPEQB Y1, Y3, Y3
	MASK(Y2, Y3, DX, AX)
	INSTRINGS

	// Four places are written whether there are so many or not, which spares a turn that
	// cannot be foreseen: the next ones are written over what is too much.
	POPCNTQ BX, DX
	PLACE(0)
	PLACE(4)
	PLACE(8)
	PLACE(12)
	CMPQ    DX, $4
	JA      more

placed:
	LEAQ (DI)(DX*4), DI
	ADDQ $64, R13

	VPOR      Y0, Y1, Y2
	VPMOVMSKB Y2, AX
	TESTL     AX, AX
	JNZ       beyond
	VPOR      Y10, Y9, Y9 // ASCII: nothing may be cut
	VPXOR     Y10, Y10, Y10
	VPXOR     Y8, Y8, Y8

next:
	ADDQ $64, SI
	CMPQ SI, CX
	JB   step

	VPTEST Y9, Y9
	JEQ    end
	ORQ    $1, R12

end:
	SAVE
	VMOVDQU Y8, 32(AX)
	VMOVDQU Y10, 64(AX)
	COUNT
	VZEROUPPER
	RET

more: // than four; BX has the rest
	PLACE(16)
	PLACE(20)
	PLACE(24)
	PLACE(28)
	CMPQ DX, $8
	JBE  placed
	LEAQ 32(DI), R14

many:
	TZCNTQ BX, AX
	ADDL   R13, AX
	MOVL   AX, (R14)
	ADDQ   $4, R14
	BLSRQ  BX, BX
	JNZ    many
	JMP    placed

beyond: // ASCII
	UTF8(Y0)
	UTF8(Y1)
	JMP  next

rare: // DX has the escaped letters that are none of the simple ones, R11 where digits are due
	MOVQ     st+48(FP), AX
	MOVQ     $1, 96(AX)
	VPCMPEQB solidus<>(SB), Y0, Y2
	VPCMPEQB solidus<>(SB), Y1, Y3
	MASK(Y2, Y3, R14, AX)
	ANDNQ    DX, R14, DX
	VPCMPEQB letterU<>(SB), Y0, Y2
	VPCMPEQB letterU<>(SB), Y1, Y3
	MASK(Y2, Y3, R14, AX)
	ANDNQ    DX, R14, AX // not u: wrong
	ORQ      AX, R12
	ANDQ     R14, DX     // backslash u
	HEX(Y0, Y2)
	VPMOVMSKB Y2, R14
	HEX(Y1, Y2)
	VPMOVMSKB Y2, AX
	SHLQ     $32, AX
	ORQ      AX, R14     // hexadecimal digits
	DUE
	JMP      control

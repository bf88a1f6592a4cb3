//go:build !purego

#include "textflag.h"
#include "index_amd64.h"
#include "utf8_amd64.h"

DATA count<>+0(SB)/8, $0x0706050403020100
DATA count<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA count<>+16(SB)/8, $0x1716151413121110
DATA count<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA count<>+32(SB)/8, $0x2726252423222120
DATA count<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA count<>+48(SB)/8, $0x3736353433323130
DATA count<>+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL count<>(SB), RODATA|NOPTR, $64

// EACH makes every byte of dst the same.
#define EACH(byte, dst) \
	MOVL         $byte, AX; \
	VPBROADCASTB AX, dst

// PLACES writes 16 places of quotes, of which places has the lowest bytes.
#define PLACES(places, at) \
	VPMOVZXBD places, Z3; \
	VPADDD    Z4, Z3, Z3; \
	VMOVDQU32 Z3, at(DI)

// func index512(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int)
//
// X1 and Z11 to Z29 are constants, Z8 is as Y8, but the last 16 of 64 bytes are what counts; the
// other registers are as index_amd64.h has them.
TEXT ·index512(SB), NOSPLIT, $0-64
	LOAD
	VMOVDQU      32(AX), Y8
	VINSERTI64X4 $1, Y8, Z8, Z8
	VMOVDQU      64(AX), Y10
	VPXORQ       Z9, Z9, Z9
	EACH(0x62, Z11) // b
	VBROADCASTI32X4 simple<>(SB), Z12
	EACH(0x20, Z13) // the first that is no control character; what makes letters small
	EACH(0x5c, Z14) // backslash
	EACH(0x22, Z15) // quote
	VMOVDQU64       count<>(SB), Z16
	VBROADCASTI32X4 first<>(SB), Z17
	VBROADCASTI32X4 second<>(SB), Z18
	VBROADCASTI32X4 third<>(SB), Z19
	EACH(0x0f, Z20)
	EACH(0x60, Z21)
	EACH(0x70, Z22)
	EACH(0x80, Z23)
	EACH(0x75, Z24) // u
	EACH(0x30, Z25) // 0
	EACH(9, Z26)
	EACH(0x61, Z27) // a
	EACH(5, Z28)
	EACH(0x2f, Z29) // slash
	VPCMPEQB X1, X1, X1

step:
	VMOVDQU64 (SI), Z0
	VPCMPEQB  Z0, Z14, K1
	VPCMPEQB  Z0, Z15, K2
	VPSHUFB   Z0, Z12, Z2
	VPCMPEQB  Z0, Z2, K3
	VPCMPEQB  Z0, Z11, K4
	VPCMPUB   $1, Z13, Z0, K5 // control characters
	KMOVQ     K1, BX          // backslashes
	KMOVQ     K2, DX          // quotes
	KORQ      K3, K4, K3
	MOVQ      BX, (R8)
	ADDQ      $8, R8
	ESCAPED

	ANDNQ      DX, R14, BX // the quotes that begin and end strings
	VMOVQ      BX, X4
	VPCLMULQDQ $0, X1, X4, X4 // a bit from each of them to the next: in a string

	KMOVQ K3, AX
	ORQ   AX, DX      // all that may follow a backslash, but u and the slash
	RARE

control:
	KMOVQ K5, DX
	INSTRINGS

	POPCNTQ      BX, DX
	KMOVQ        BX, K1
	VPCOMPRESSB.Z Z16, K1, Z2 // where the quotes are in the 64 bytes
	VPBROADCASTD R13, Z4
	PLACES(X2, 0)
	CMPQ         DX, $16
	JA           more

placed:
	LEAQ (DI)(DX*4), DI
	ADDQ $64, R13

	VPMOVB2M Z0, K1
	KORTESTQ K1, K1
	JNZ      beyond
	VPORQ    Z10, Z9, Z9 // ASCII: nothing may be cut
	VPXORQ   Z10, Z10, Z10
	VPXORQ   Z8, Z8, Z8

next:
	ADDQ $64, SI
	CMPQ SI, CX
	JB   step

	VPTESTMQ Z9, Z9, K1
	KORTESTQ K1, K1
	JEQ      end
	ORQ      $1, R12

end:
	SAVE
	VEXTRACTI64X4 $1, Z8, Y8
	VMOVDQU Y8, 32(AX)
	VMOVDQU Y10, 64(AX)
	COUNT
	VZEROUPPER
	RET

more:
	VEXTRACTI32X4 $1, Z2, X3
	PLACES(X3, 64)
	VEXTRACTI32X4 $2, Z2, X3
	PLACES(X3, 128)
	VEXTRACTI32X4 $3, Z2, X3
	PLACES(X3, 192)
	JMP placed

beyond: // ASCII; as UTF8 in utf8_amd64.h
	VALIGNQ  $6, Z8, Z0, Z4 // the last 16 bytes before, the first 48
	VPALIGNR $15, Z4, Z0, Z5
	VPSRLW   $4, Z5, Z6
	VPANDQ   Z20, Z6, Z6
	VPANDQ   Z20, Z5, Z5
	VPSHUFB  Z6, Z17, Z6
	VPSHUFB  Z5, Z18, Z5
	VPANDQ   Z5, Z6, Z5
	VPSRLW   $4, Z0, Z6
	VPANDQ   Z20, Z6, Z6
	VPSHUFB  Z6, Z19, Z6
	VPANDQ   Z6, Z5, Z5
	VPALIGNR $14, Z4, Z0, Z6
	VPALIGNR $13, Z4, Z0, Z7
	VPSUBUSB Z21, Z6, Z6
	VPSUBUSB Z22, Z7, Z7
	VPORQ    Z6, Z7, Z6
	VPANDQ   Z23, Z6, Z6
	VPXORQ   Z5, Z6, Z5
	VPORQ    Z5, Z9, Z9
	VMOVDQA64 Z0, Z8
	VEXTRACTI64X4 $1, Z0, Y10
	VPSUBUSB whole<>(SB), Y10, Y10
	JMP      next

rare: // DX has the escaped letters that are none of the simple ones, R11 where digits are due
	MOVQ     st+48(FP), AX
	MOVQ     $1, 96(AX)
	VPCMPEQB Z29, Z0, K1
	KMOVQ    K1, R14
	ANDNQ    DX, R14, DX
	VPCMPEQB Z24, Z0, K1
	KMOVQ    K1, R14
	ANDNQ    DX, R14, AX // not u: wrong
	ORQ      AX, R12
	ANDQ     R14, DX     // backslash u
	VPSUBB   Z25, Z0, Z2
	VPCMPUB  $2, Z26, Z2, K1
	VPORQ    Z13, Z0, Z3
	VPSUBB   Z27, Z3, Z3
	VPCMPUB  $2, Z28, Z3, K2
	KORQ     K1, K2, K1
	KMOVQ    K1, R14     // hexadecimal digits
	DUE
	JMP      control

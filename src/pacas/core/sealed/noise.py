"""Noise for counts that are published: exactly discrete Laplace, from bits that a secret and a purpose determine.

The sampler is that of Canonne, Kamath and Steinke (2020): whole numbers only, so that no rounding tells of the count.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from hashlib import shake_256

Below = Callable[[int], int]
"""A whole number from 0 up to one that is given, all alike."""


def secret_numbers(secret: bytes, purpose: str) -> Below:
    """Random numbers that nobody can guess who does not know the secret; the same whenever they are asked for anew."""
    used = 0

    def below(bound: int) -> int:
        nonlocal used
        size = (bound.bit_length() + 7) // 8
        while True:
            key = f"{purpose}\0{used}\0".encode() + secret
            used += 1
            number = int.from_bytes(shake_256(key).digest(size)) >> (8 * size - bound.bit_length())
            if number < bound:
                return number

    return below


def discrete_laplace(scale: Fraction, below: Below) -> int:
    """A whole number x, with probability in proportion to exp(−|x| / scale).

    >>> [discrete_laplace(Fraction(2), secret_numbers(b"secret", str(n))) for n in range(8)]
    [-6, -3, 0, -1, -1, 2, 0, 5]
    """
    t, s = scale.numerator, scale.denominator
    while True:
        u = below(t)
        if not _happens(Fraction(u, t), below):
            continue
        v = 0
        while _happens(Fraction(1), below):
            v += 1
        size, is_negative = (u + t * v) // s, bool(below(2))
        if size or not is_negative:
            return -size if is_negative else size


def _happens(exponent: Fraction, below: Below) -> bool:
    """True with probability exp(−exponent), for an exponent from 0 to 1."""
    k = 1
    while below(exponent.denominator * k) < exponent.numerator:
        k += 1
    return k % 2 == 1

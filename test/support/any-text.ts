import fc from 'fast-check';

/**
 * Texts of any UTF-16 units, including lone surrogates and NUL. fast-check's own `binary` unit
 * takes two seconds of a processor to set up.
 */
export function anyText(limits: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...limits, unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });
}

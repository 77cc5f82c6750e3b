import fc from 'fast-check';

/**
 * Texts of any UTF-16 units, halves of surrogate pairs and NUL among them. fast-check's own `binary` unit takes two
 * seconds of a processor to set up.
 */
export function anyText(limits: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...limits, unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });
}

import { describe, it } from '@jest/globals';
import type { Promised, Proof, Section } from '../promise.js';

type ProvenHere<P> = {
  [Name in keyof P]: P[Name] extends { provenBy: Proof } ? never : Name;
}[keyof P];

type Test = () => void | Promise<void>;

/** Declares a test for each promise of a section that no other test proves, and for no others. */
export function prove<P extends Record<string, Promised>>(
  { title, promises }: Section<P>,
  proofs: Record<ProvenHere<P>, Test>,
): void {
  describe(title, () => {
    for (const [name, proof] of Object.entries<Test>(proofs)) {
      it(titleOf(promises[name] as Promised), proof);
    }
  });
}

function titleOf({ says, state, here }: Promised): string {
  return state === 'holds' ? says : `${state}: ${says} (${here})`;
}

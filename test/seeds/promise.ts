/** Whether Drover keeps a promise of a founding document. */
export type State = 'holds' | 'differs' | 'not yet';

/** A test outside of this folder that proves a promise. */
export interface Proof {
  /** The path from the root of the project. */
  file: string;
  /** The title of the test, as its source spells it. */
  test: string;
}

export interface Promised {
  /** The promise in the words of its document, as Markdown. */
  says: string;
  state: State;
  /** The behaviour of Drover if the promise does not hold as it stands. */
  here: string;
  provenBy?: Proof;
}

/** A promise that a spec of this folder proves. */
export interface ProvenHere extends Promised {
  provenBy?: never;
}

export interface ProvenElsewhere extends Promised {
  provenBy: Proof;
}

export interface Section<P extends Record<string, Promised> = Record<string, Promised>> {
  title: string;
  promises: P;
}

export interface FoundingDocument {
  title: string;
  sections: readonly Section[];
}

export function section<P extends Record<string, Promised>>(
  title: string,
  promises: P,
): Section<P> {
  return { title, promises };
}

export function holds(says: string): ProvenHere;
export function holds(says: string, provenBy: Proof): ProvenElsewhere;
export function holds(says: string, provenBy?: Proof): Promised {
  return { says, state: 'holds', here: '', ...(provenBy && { provenBy }) };
}

/** A settled deviation. */
export function differs(says: string, here: string): ProvenHere;
export function differs(says: string, here: string, provenBy: Proof): ProvenElsewhere;
export function differs(says: string, here: string, provenBy?: Proof): Promised {
  return { says, state: 'differs', here, ...(provenBy && { provenBy }) };
}

/** A promise that Drover does not keep yet. Its proof fails as soon as Drover does. */
export function notYet(says: string, here: string): ProvenHere {
  return { says, state: 'not yet', here };
}

export function by(file: string, test: string): Proof {
  return { file, test };
}

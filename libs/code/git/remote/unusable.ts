/** Drover cannot work with the repository. The message is a sentence for its owner. */
export class UnusableRepository extends Error {}

/** Drover cannot work with the repository. The message is a sentence for its owner. */
export class UnusableRepository extends Error {}

/** The server of a repository cannot be reached, or fails. A later attempt can succeed. */
export class RemoteUnavailable extends Error {}

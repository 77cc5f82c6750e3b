/**
 * The folder of artifacts with texts of a conversation that are too long for the log. `details.artifact` of
 * the log entry has the name of its artifact.
 */
export const TRANSCRIPT_FOLDER = '.drover/transcript/';

/** The output of one part of `npm run generate`. */
export interface Generated {
  /** Texts by the paths of their files, relative to the project's folder. */
  files: Record<string, string>;
  /** Errors in the sources that must be corrected. */
  problems?: string[];
}

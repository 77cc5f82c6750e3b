/** What one part of `npm run generate` makes. */
export interface Generated {
  /** Texts by the paths of their files, from the project's folder on. */
  files: Record<string, string>;
  /** Reasons why the sources cannot stay as they are. */
  problems?: string[];
}

/** The forges that repositories can name. `none`: changes have no pull requests. */
export const FORGES = ['none', 'github', 'gitea'] as const;
export type ForgeName = (typeof FORGES)[number];

/** The scopes of API keys. */
export const SCOPES = [
  'tasks:read',
  'tasks:write',
  'questions:answer',
  'changes:review',
  'agents:read',
  'agents:write',
  'projects:read',
  'projects:write',
  'workspace:admin',
  'coordinator:admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether the key's scopes cover a route's scope. Write includes read. */
export function covers(held: readonly string[], needed: Scope): boolean {
  return held.includes(needed) || held.includes(needed.replace(/:read$/, ':write'));
}

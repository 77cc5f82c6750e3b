import { errorInRules, type FieldError } from '#lib/kernel';

export const PERMISSION_MODES = ['auto', 'ask', 'plan', 'read-only'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

const PERMISSIONS = 'agent.settings.permissions';

/** The error in the rules for the tools of a task's coding agent. */
export function errorInPermissions({ agent }: { agent?: unknown }): FieldError | undefined {
  const { permissionMode, settings } = (agent ?? {}) as {
    permissionMode?: PermissionMode;
    settings?: Record<string, unknown>;
  };
  const rules = settings?.['permissions'];
  if (rules === undefined) return undefined;
  if (permissionMode !== 'plan') return errorInRules(rules, PERMISSIONS);
  return { field: PERMISSIONS, message: 'cannot be given with the permissionMode plan' };
}

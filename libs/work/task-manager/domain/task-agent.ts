export const PERMISSION_MODES = ['auto', 'ask', 'plan', 'read-only'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

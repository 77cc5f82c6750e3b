import { type Database, firstRow } from '#lib/database';
import { newId } from '#lib/kernel';
import { normalizeEmail } from '../domain/email.js';
import { generatePassword, hashPassword } from '../passwords/argon2.js';
import { anyUser, lockFirstStart } from '../store/first-administrator.sql.js';
import { insertUser } from '../store/users.sql.js';
import { insertWorkspace } from '../store/workspaces.sql.js';

export interface FirstAdministratorOptions {
  /** Default `admin@drover.local`. */
  email?: string;
  /** Default `Administrator`. */
  name?: string;
  /** Default: one is made. */
  password?: string;
  /** Default `Default` and `default`. */
  workspaceName?: string;
  workspaceSlug?: string;
}

export type FirstAdministrator =
  | { created: false }
  | {
      created: true;
      userId: string;
      email: string;
      /** Stored nowhere in clear: show it, or keep it in a file that only its owner can read. */
      password: string;
      workspaceId: string;
    };

/**
 * In an installation without users, makes the first one: an operator, and OWNER of a workspace.
 * Several servers may start at once; one of them makes it.
 */
export async function ensureFirstAdministrator(
  database: Database,
  options: FirstAdministratorOptions = {},
): Promise<FirstAdministrator> {
  const password = options.password ?? generatePassword();
  const passwordHash = await hashPassword(password);
  return database.service.transaction(async (tx) => {
    await tx.rows(lockFirstStart);
    if ((await firstRow(tx, anyUser))?.there) return { created: false };
    const [userId, workspaceId] = [newId(), newId()];
    const email = normalizeEmail(options.email ?? 'admin@drover.local');
    await tx.rows(insertUser, [userId, email, options.name ?? 'Administrator', passwordHash, true]);
    const { workspaceName = 'Default', workspaceSlug = 'default' } = options;
    await tx.rows(insertWorkspace, [workspaceId, workspaceName, workspaceSlug, userId]);
    return { created: true, userId, email, password, workspaceId };
  });
}

import type { Database } from '#lib/database';
import { newId } from '#lib/kernel';
import { normalizeEmail } from '../domain/email.js';
import { generatePassword, hashPassword } from '../passwords/argon2.js';

export interface FirstAdministratorOptions {
  /** Default: `admin@drover.local`. */
  email?: string;
  /** Default: `Administrator`. */
  name?: string;
  /** Default: a generated password. */
  password?: string;
  /** Default: `Default`, with the slug `default`. */
  workspaceName?: string;
  workspaceSlug?: string;
}

export type FirstAdministrator =
  | { created: false }
  | {
      created: true;
      userId: string;
      email: string;
      /** Stored nowhere in clear. Show it, or store it in a file that only its owner can read. */
      password: string;
      workspaceId: string;
    };

/**
 * Creates the first user of an installation: an operator, and OWNER of a workspace. If several
 * servers start at once, one of them creates it.
 */
export async function ensureFirstAdministrator(
  database: Database,
  options: FirstAdministratorOptions = {},
): Promise<FirstAdministrator> {
  const password = options.password ?? generatePassword();
  const passwordHash = await hashPassword(password);
  return database.service.prisma<FirstAdministrator>(async (tx) => {
    // Every other first start waits. The number only has to differ from that of the migrations.
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(72707370)`;
    if ((await tx.user.findFirst({ select: { id: true } })) !== null) return { created: false };
    const [userId, workspaceId] = [newId(), newId()];
    const email = normalizeEmail(options.email ?? 'admin@drover.local');
    const {
      name = 'Administrator',
      workspaceName = 'Default',
      workspaceSlug = 'default',
    } = options;
    await tx.user.create({ data: { id: userId, email, name, passwordHash, isOperator: true } });
    await tx.workspace.create({
      data: { id: workspaceId, name: workspaceName, slug: workspaceSlug },
    });
    await tx.workspaceMember.create({ data: { workspaceId, userId, role: 'OWNER' } });
    return { created: true, userId, email, password, workspaceId };
  });
}

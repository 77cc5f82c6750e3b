import type { Config } from '#lib/config';
import { Database } from '#lib/database';
import { ensureFirstAdministrator } from '#lib/identity';
import type { Logger } from '#lib/observability';
import { databaseOptions } from './connections.js';

const USERS_EXIST =
  'there are users already: nobody was made. An operator sets the password of a user with ' +
  '`drover user password`, and creates users with `drover user create`';

/**
 * Creates the first administrator of an installation without users, with a password that is shown
 * once.
 *
 * @returns the line to print
 */
export async function createAdministrator(
  config: Config,
  logger: Logger,
): Promise<Record<string, unknown>> {
  const database = new Database(databaseOptions(config, logger));
  try {
    const made = await ensureFirstAdministrator(database);
    if (!made.created) return { message: USERS_EXIST };
    const { email, password, workspaceId } = made;
    return { message: 'administrator created', email, password, workspaceId };
  } finally {
    await database.close();
  }
}

import { FolderStore } from '#lib/artifacts';
import type { Config } from '#lib/config';
import { installationId } from '#lib/database';
import { StartupError } from './startup-error.js';

/**
 * Takes the folder of artifacts for this installation. A server removes files that its database does not
 * know, so two installations in one folder would remove each other's.
 *
 * @throws StartupError, or the driver's error
 */
export async function requireOwnFolder({ artifacts, database }: Config): Promise<void> {
  const { folder } = artifacts;
  if (folder === undefined) return;
  const installation = await installationId(database.serviceUrl);
  const owner = await new FolderStore(folder).claim(installation).catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `This user cannot use the folder ${folder} (${code ?? message}): correct ARTIFACTS_DIR.`,
    );
  });
  if (owner === installation) return;
  throw new StartupError(
    `The artifacts in ${folder} belong to another installation (${owner}), and this one ` +
      `(${installation}) would remove them: set ARTIFACTS_DIR to a folder of its own. If this ` +
      `database replaces the other one for good, remove the file ${folder}/installation.`,
  );
}

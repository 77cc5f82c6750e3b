import { Injectable } from '@nestjs/common';
import { KeyRing } from '../keys/key-ring.js';
import { SigningSecrets } from './signing-secrets.js';
import { REPOSITORY_SECRETS } from './signing-secrets.sql.js';

/**
 * The secrets of repositories that hosts need: credentials, signing key, variables, as one text.
 */
@Injectable()
export class RepositorySecrets extends SigningSecrets {
  constructor(ring: KeyRing) {
    super(ring, REPOSITORY_SECRETS, ({ workspaceId, id }, column) => ({
      workspace_id: workspaceId,
      repository_id: id,
      column_name: column,
    }));
  }
}

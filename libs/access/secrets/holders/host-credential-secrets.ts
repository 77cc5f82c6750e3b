import { Injectable } from '@nestjs/common';
import { KeyRing } from '../keys/key-ring.js';
import { SigningSecrets } from './signing-secrets.js';
import { HOST_CREDENTIAL_SECRETS } from './signing-secrets.sql.js';

/** The headers that sessions send to single hosts. They are never rotated by Drover. */
@Injectable()
export class HostCredentialSecrets extends SigningSecrets {
  constructor(ring: KeyRing) {
    super(ring, HOST_CREDENTIAL_SECRETS, ({ workspaceId, id }, column) => ({
      workspace_id: workspaceId,
      credential_id: id,
      column_name: column,
    }));
  }
}

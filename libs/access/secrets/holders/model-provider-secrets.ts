import { Injectable } from '@nestjs/common';
import { KeyRing } from '../keys/key-ring.js';
import { SigningSecrets } from './signing-secrets.js';
import { MODEL_PROVIDER_SECRETS } from './signing-secrets.sql.js';

/** The keys with which Drover asks providers of models. They are never rotated by Drover. */
@Injectable()
export class ModelProviderSecrets extends SigningSecrets {
  constructor(ring: KeyRing) {
    super(ring, MODEL_PROVIDER_SECRETS, ({ workspaceId, id }, column) => ({
      workspace_id: workspaceId,
      provider_id: id,
      column_name: column,
    }));
  }
}

import { Injectable } from '@nestjs/common';
import { KeyRing } from '../keys/key-ring.js';
import { SigningSecrets } from './signing-secrets.js';
import { WEBHOOK_SECRETS } from './signing-secrets.sql.js';

/** The secrets with which webhooks sign their messages. */
@Injectable()
export class WebhookSecrets extends SigningSecrets {
  constructor(ring: KeyRing) {
    super(ring, WEBHOOK_SECRETS, ({ workspaceId, id }, column) => ({
      workspace_id: workspaceId,
      webhook_id: id,
      column_name: column,
    }));
  }
}

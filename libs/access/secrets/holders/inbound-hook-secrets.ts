import { Injectable } from '@nestjs/common';
import { KeyRing } from '../keys/key-ring.js';
import { SigningSecrets } from './signing-secrets.js';
import { INBOUND_HOOK_SECRETS } from './signing-secrets.sql.js';

/** The secrets with which other systems sign events for inbound hooks. */
@Injectable()
export class InboundHookSecrets extends SigningSecrets {
  constructor(ring: KeyRing) {
    super(ring, INBOUND_HOOK_SECRETS, ({ workspaceId, id }, column) => ({
      workspace_id: workspaceId,
      hook_id: id,
      column_name: column,
    }));
  }
}

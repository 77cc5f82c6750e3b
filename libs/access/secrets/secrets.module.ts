import { Global, Module } from '@nestjs/common';
import { AgentSecrets } from './agent-secrets.js';
import { HeldSecrets } from './held-secrets.js';
import { KeyRing } from './key-ring.js';
import { Resealing } from './resealing.js';
import { TaskSecrets } from './task-secrets.js';
import { ValuesAtHand } from './values-at-hand.js';
import { InboundHookSecrets, WebhookSecrets } from './signing-secrets.js';

const PROVIDERS = [
  KeyRing,
  TaskSecrets,
  HeldSecrets,
  AgentSecrets,
  WebhookSecrets,
  InboundHookSecrets,
  Resealing,
  ValuesAtHand,
];

/** Keys, and the values that they open. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class SecretsModule {}

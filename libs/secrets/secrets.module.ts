import { Global, Module } from '@nestjs/common';
import { AgentSecrets } from './agent-secrets.js';
import { HeldSecrets } from './held-secrets.js';
import { KeyRing } from './key-ring.js';
import { Resealing } from './resealing.js';
import { TaskSecrets } from './task-secrets.js';
import { ValuesAtHand } from './values-at-hand.js';

/** Keys, and the values that only they open. */
@Global()
@Module({
  providers: [KeyRing, TaskSecrets, HeldSecrets, AgentSecrets, Resealing, ValuesAtHand],
  exports: [KeyRing, TaskSecrets, HeldSecrets, AgentSecrets, Resealing, ValuesAtHand],
})
export class SecretsModule {}

import { Global, Module } from '@nestjs/common';
import { AgentSecrets } from './agent-secrets.js';
import { HeldSecrets } from './held-secrets.js';
import { KeyRing } from './key-ring.js';
import { Resealing } from './resealing.js';
import { TaskSecrets } from './task-secrets.js';

/** Keys, and the values that only they open. */
@Global()
@Module({
  providers: [KeyRing, TaskSecrets, HeldSecrets, AgentSecrets, Resealing],
  exports: [KeyRing, TaskSecrets, HeldSecrets, AgentSecrets, Resealing],
})
export class SecretsModule {}

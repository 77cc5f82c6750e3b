import { Global, Module } from '@nestjs/common';
import { HeldSecrets } from './held-secrets.js';
import { KeyRing } from './key-ring.js';
import { Resealing } from './resealing.js';
import { TaskSecrets } from './task-secrets.js';

/** Keys, and the values that only they open. */
@Global()
@Module({
  providers: [KeyRing, TaskSecrets, HeldSecrets, Resealing],
  exports: [KeyRing, TaskSecrets, HeldSecrets, Resealing],
})
export class SecretsModule {}

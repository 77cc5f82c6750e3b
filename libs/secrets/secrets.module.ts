import { Global, Module } from '@nestjs/common';
import { HeldSecrets } from './held-secrets.js';
import { KeyRing } from './key-ring.js';
import { Resealing } from './resealing.js';
import { TaskSealer } from './task-sealer.js';

/** Keys, and the values that only they open. */
@Global()
@Module({
  providers: [KeyRing, TaskSealer, HeldSecrets, Resealing],
  exports: [KeyRing, TaskSealer, HeldSecrets, Resealing],
})
export class SecretsModule {}

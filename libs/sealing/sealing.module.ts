import { Global, Module } from '@nestjs/common';
import { KeyRing } from './key-ring.js';

/** Provides the one `KeyRing`. */
@Global()
@Module({ providers: [KeyRing], exports: [KeyRing] })
export class SealingModule {}

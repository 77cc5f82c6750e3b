import { Module } from '@nestjs/common';
import { ProviderLimitsController } from './http/provider-limits.controller.js';
import { ProviderLimits } from './limits/provider-limits.js';

/** Keeps the limits of providers, for which tasks and agents wait. */
@Module({
  controllers: [ProviderLimitsController],
  providers: [ProviderLimits],
  exports: [ProviderLimits],
})
export class ProviderLimitsModule {}

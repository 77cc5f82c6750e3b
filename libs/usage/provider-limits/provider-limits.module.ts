import { Module } from '@nestjs/common';
import { ProviderLimitsController } from './http/provider-limits.controller.js';
import { ProviderLimits } from './limits/provider-limits.js';

/** Which providers refuse a workspace, and what waits for them. */
@Module({
  controllers: [ProviderLimitsController],
  providers: [ProviderLimits],
  exports: [ProviderLimits],
})
export class ProviderLimitsModule {}

import { Module } from '@nestjs/common';
import { ModelAccessController } from './http/model-access.controller.js';
import { ModelProvidersController } from './http/model-providers.controller.js';
import { ModelProviders } from './providers/model-providers.js';

/** Keys and addresses of the providers of models. */
@Module({
  controllers: [ModelProvidersController, ModelAccessController],
  providers: [ModelProviders],
  exports: [ModelProviders],
})
export class ModelProvidersModule {}

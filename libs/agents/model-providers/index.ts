export { PROVIDERS, type Provider, type ProviderAccess } from './domain/provider.js';
export { ModelProvidersModule } from './model-providers.module.js';
export { ModelProviders } from './providers/model-providers.js';

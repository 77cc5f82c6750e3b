import { Global, Module } from '@nestjs/common';
import { AgentSecrets } from './holders/agent-secrets.js';
import { HeldSecrets } from './holders/held-secrets.js';
import { KeyRing } from './keys/key-ring.js';
import { Resealing } from './keys/resealing.js';
import { TaskSecrets } from './holders/task-secrets.js';
import { ValuesAtHand } from './holders/values-at-hand.js';
import { InboundHookSecrets } from './holders/inbound-hook-secrets.js';
import { HostCredentialSecrets } from './holders/host-credential-secrets.js';
import { ModelProviderSecrets } from './holders/model-provider-secrets.js';
import { ProjectSecrets } from './holders/project-secrets.js';
import { TemplateSecrets } from './holders/template-secrets.js';
import { RepositorySecrets } from './holders/repository-secrets.js';
import { WebhookSecrets } from './holders/webhook-secrets.js';

const PROVIDERS = [
  KeyRing,
  TaskSecrets,
  HeldSecrets,
  AgentSecrets,
  ProjectSecrets,
  TemplateSecrets,
  WebhookSecrets,
  InboundHookSecrets,
  ModelProviderSecrets,
  HostCredentialSecrets,
  RepositorySecrets,
  Resealing,
  ValuesAtHand,
];

/** Keys, and the values that they open. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class SecretsModule {}

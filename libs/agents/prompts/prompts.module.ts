import { Module } from '@nestjs/common';
import { PromptTemplateController } from './http/prompt-template.controller.js';
import { PromptsController } from './http/prompts.controller.js';
import { PromptTemplates } from './prompts/prompt-templates.js';
import { Prompts } from './prompts/prompts.js';

/** Prompts of coding agents, and the templates of workspaces for them. */
@Module({
  controllers: [PromptTemplateController, PromptsController],
  providers: [PromptTemplates, Prompts],
})
export class PromptsModule {}

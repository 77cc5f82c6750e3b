import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { DEFAULT_TEMPLATE } from '../domain/default-template.js';
import { errorInTemplate } from '../domain/template.js';
import {
  deletePromptTemplate,
  readPromptTemplate,
  type TemplateRow,
  writePromptTemplate,
} from './prompt-templates.sql.js';

export interface TemplateView {
  template: string;
  source: 'workspace' | 'default';
  updatedAt: Date | null;
}

/** The templates of workspaces for the prompts of coding agents. */
@Injectable()
export class PromptTemplates {
  constructor(private readonly database: Database) {}

  async get({ workspaceId }: Caller): Promise<TemplateView> {
    const row = await firstRow(this.database.tenant(workspaceId), readPromptTemplate, [
      workspaceId,
    ]);
    return row ? toView(row) : { template: DEFAULT_TEMPLATE, source: 'default', updatedAt: null };
  }

  /**
   * Applies to runs that start from now on.
   *
   * @throws DroverError `validation_failed`
   */
  async set({ workspaceId }: Caller, template: string): Promise<TemplateView> {
    requireTemplate(template);
    const tenant = this.database.tenant(workspaceId);
    return toView(
      (await firstRow(tenant, writePromptTemplate, [workspaceId, template])) as TemplateRow,
    );
  }

  /** Returns to the template of Drover. */
  async reset({ workspaceId }: Caller): Promise<void> {
    await this.database.tenant(workspaceId).rows(deletePromptTemplate, [workspaceId]);
  }
}

/** @throws DroverError `validation_failed`, which names the unknown placeholder */
export function requireTemplate(template: string): void {
  const message = errorInTemplate(template);
  if (message === undefined) return;
  throw new DroverError('validation_failed', { errors: [{ field: 'template', message }] });
}

function toView({ template, updated_at: updatedAt }: TemplateRow): TemplateView {
  return { template, source: 'workspace', updatedAt };
}

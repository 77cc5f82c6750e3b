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
  /** 0 for the template of Drover. */
  version: number;
}

const UNSET: TemplateView = {
  template: DEFAULT_TEMPLATE,
  source: 'default',
  updatedAt: null,
  version: 0,
};

/** The templates of workspaces for the prompts of coding agents. */
@Injectable()
export class PromptTemplates {
  constructor(private readonly database: Database) {}

  async get({ workspaceId }: Caller): Promise<TemplateView> {
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, readPromptTemplate, [workspaceId]);
    return row ? toView(row) : UNSET;
  }

  /**
   * Applies to runs that start from now on.
   *
   * @param version the version that the client expects, if it does
   * @throws DroverError `validation_failed`, `version_mismatch`
   */
  async set(caller: Caller, template: string, version?: number): Promise<TemplateView> {
    requireTemplate(template);
    const { workspaceId } = caller;
    const params = [workspaceId, template, version ?? null];
    const row = await firstRow(this.database.tenant(workspaceId), writePromptTemplate, params);
    return row ? toView(row) : this.refuseVersion(caller);
  }

  /**
   * Returns to the template of Drover.
   *
   * @param version the version that the client expects, if it does
   * @throws DroverError `version_mismatch`
   */
  async reset(caller: Caller, version?: number): Promise<void> {
    const { workspaceId } = caller;
    const params = [workspaceId, version ?? null];
    const row = await firstRow(this.database.tenant(workspaceId), deletePromptTemplate, params);
    if (row === undefined && version !== undefined) await this.refuseVersion(caller);
  }

  private async refuseVersion(caller: Caller): Promise<never> {
    const { version: currentVersion } = await this.get(caller);
    throw new DroverError('version_mismatch', { members: { currentVersion } });
  }
}

/** @throws DroverError `validation_failed`, which names the unknown placeholder */
export function requireTemplate(template: string): void {
  const message = errorInTemplate(template);
  if (message === undefined) return;
  throw new DroverError('validation_failed', { errors: [{ field: 'template', message }] });
}

function toView({ template, updated_at: updatedAt, version }: TemplateRow): TemplateView {
  return { template, source: 'workspace', updatedAt, version };
}

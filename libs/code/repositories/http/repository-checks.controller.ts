import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { AgentCaller, Caller } from '#lib/kernel';
import { RepositoryChecks } from '../checks/repository-checks.js';
import {
  CheckLeaseDto,
  NamedCheckDto,
  ReportCheckDto,
  RepositoryCheckDto,
} from './repository-check.dto.js';

/** What would fail on a repository: asked by people, looked at by hosts. */
@ApiTags('Repositories')
@Controller('repositories')
export class RepositoryChecksController {
  constructor(private readonly checks: RepositoryChecks) {}

  @Post(':id/check')
  @HttpCode(200)
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    operationId: 'requestRepositoryCheck',
    summary: 'Ask a host to check a repository',
    description:
      'A host looks at access, branch, scripts and its own tools. Read the findings when the ' +
      'state is `finished`. A check that is under way goes on.',
  })
  @ApiOkResponse({ type: RepositoryCheckDto })
  @ApiErrors('validation_failed', 'repository_not_found', 'repository_archived')
  request(@CurrentCaller() caller: Caller, @UuidParam('id') id: string) {
    return this.checks.request(caller, id);
  }

  @Get(':id/check')
  @Auth({ scope: 'projects:read' })
  @ApiOperation({
    operationId: 'getRepositoryCheck',
    summary: 'Get the last check of a repository',
  })
  @ApiOkResponse({ type: RepositoryCheckDto })
  @ApiErrors('validation_failed', 'repository_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam('id') id: string) {
    return this.checks.get(caller, id);
  }

  @Post(':id/check/renew')
  @HttpCode(200)
  @Auth({ kinds: ['agent'] })
  @ApiOperation({
    operationId: 'renewRepositoryCheck',
    summary: 'Renew the lease of a check of a repository',
    description: 'The lease lasts 60 s from then on. Without a renewal it lasts 10 min.',
  })
  @ApiOkResponse({ type: CheckLeaseDto })
  @ApiErrors('validation_failed', 'repository_not_found', 'stale_step')
  renew(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('id') repositoryId: string,
    @Body() { generation }: NamedCheckDto,
  ) {
    return this.checks.renew({ agent, repositoryId, generation });
  }

  @Post(':id/check/release')
  @HttpCode(200)
  @Auth({ kinds: ['agent'] })
  @ApiOperation({
    operationId: 'releaseRepositoryCheck',
    summary: 'Release a check of a repository, so that another host has it at once',
  })
  @ApiOkResponse({ type: RepositoryCheckDto })
  @ApiErrors('validation_failed', 'repository_not_found', 'stale_step')
  release(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('id') repositoryId: string,
    @Body() { generation }: NamedCheckDto,
  ) {
    return this.checks.release({ agent, repositoryId, generation });
  }

  @Post(':id/check/report')
  @HttpCode(200)
  @Auth({ kinds: ['agent'] })
  @ApiOperation({
    operationId: 'reportRepositoryCheck',
    summary: 'Report what a host found in a repository',
  })
  @ApiOkResponse({ type: RepositoryCheckDto })
  @ApiErrors('validation_failed', 'repository_not_found', 'stale_step')
  report(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('id') repositoryId: string,
    @Body() { generation, findings }: ReportCheckDto,
  ) {
    return this.checks.report({ agent, repositoryId, generation }, findings);
  }
}

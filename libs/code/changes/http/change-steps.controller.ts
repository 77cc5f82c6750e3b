import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiErrors, ClientGone, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { AgentCaller } from '#lib/kernel';
import { CheckWorkDto } from '#lib/repositories';
import { PullRequests } from '../forge/pull-requests.js';
import { ChangeSteps } from '../hosts/change-steps.js';
import { StepClaims } from '../hosts/step-claims.js';
import {
  ClaimStepDto,
  HeldStepDto,
  HostChangeDto,
  PlanLandingDto,
  RecordPullRequestDto,
  ReportStepDto,
  RenewedStepDto,
  StepLeaseDto,
  StepWorkDto,
} from './host.dto.js';

/** The work of hosts for changes: only hosts with git have it. */
@ApiTags('Changes')
@Controller('change-steps')
@Auth({ kinds: ['agent'] })
export class ChangeStepsController {
  constructor(
    private readonly claims: StepClaims,
    private readonly steps: ChangeSteps,
    private readonly pullRequests: PullRequests,
  ) {}

  @Post('claim')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'claimChangeStep',
    summary: 'Claim the next step of a change, or wait for one with waitSeconds',
    description:
      'The lease lasts 60 s. 204: there is no step. With `checks`, the answer can be the check of a ' +
      'repository instead. Without `forges`, repositories with a forge have only the step `prove`.',
  })
  @ApiExtraModels(StepWorkDto, CheckWorkDto)
  @ApiOkResponse({
    schema: {
      oneOf: [{ $ref: getSchemaPath(StepWorkDto) }, { $ref: getSchemaPath(CheckWorkDto) }],
    },
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'secrets_unreadable')
  async claim(
    @CurrentCaller() agent: AgentCaller,
    @Body() { waitSeconds = 0, checks, forges }: ClaimStepDto,
    @ClientGone() gone: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const work = await this.claims.claim(
      { agent, waitMs: waitSeconds * 1_000, takesChecks: checks, knowsForges: forges },
      gone,
    );
    if (work === undefined) void reply.code(204);
    return work;
  }

  @Post(':changeId/renew')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'renewChangeStep',
    summary: 'Renew the lease of a step',
    description: 'A pause that ends runs ends the lease as well (409 `stale_step`).',
  })
  @ApiOkResponse({ type: RenewedStepDto })
  @ApiErrors('validation_failed', 'change_not_found', 'stale_step')
  renew(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('changeId', { whole: true }) changeId: string,
    @Body() { generation }: HeldStepDto,
  ) {
    return this.steps.renew({ agent, changeId, generation });
  }

  @Post(':changeId/plan')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'planChangeLanding',
    summary: 'Record the commit that the host is about to push to the target',
    description:
      'A host that takes the step over finds it in `landingCommits`, and asks whether the target ' +
      'contains it.',
  })
  @ApiOkResponse({ type: StepLeaseDto })
  @ApiErrors('validation_failed', 'change_not_found', 'stale_step')
  plan(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('changeId', { whole: true }) changeId: string,
    @Body() { generation, landingCommit }: PlanLandingDto,
  ) {
    return this.steps.plan({ agent, changeId, generation }, landingCommit);
  }

  @Post(':changeId/not-landed')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'reportNotLanded',
    summary: 'Record that none of the planned commits is on the target',
    description: 'Call it after the host has looked. From then on changes can be requested again.',
  })
  @ApiOkResponse({ type: StepLeaseDto })
  @ApiErrors('validation_failed', 'change_not_found', 'stale_step')
  notLanded(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('changeId', { whole: true }) changeId: string,
    @Body() { generation }: HeldStepDto,
  ) {
    return this.steps.notLanded({ agent, changeId, generation });
  }

  @Post(':changeId/pull-request')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'reportPullRequest',
    summary: 'Record the pull request of a change, and what people said there',
    description:
      'Reviews, merges and closures at the forge count as if they were made here, each once. If the ' +
      'change moves, the host has lost its step.',
  })
  @ApiOkResponse({ type: HostChangeDto })
  @ApiErrors('validation_failed', 'change_not_found', 'stale_step')
  recordPullRequest(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('changeId', { whole: true }) changeId: string,
    @Body() { generation, ...found }: RecordPullRequestDto,
  ) {
    return this.pullRequests.record({ agent, changeId, generation }, found);
  }

  @Post(':changeId/report')
  @HttpCode(200)
  @ApiOperation({ operationId: 'reportChangeStep', summary: 'Report the outcome of a step' })
  @ApiOkResponse({ type: HostChangeDto })
  @ApiErrors('validation_failed', 'change_not_found', 'stale_step')
  report(
    @CurrentCaller() agent: AgentCaller,
    @UuidParam('changeId', { whole: true }) changeId: string,
    @Body() body: ReportStepDto,
  ) {
    return this.steps.report({ agent, changeId, generation: body.generation }, body);
  }
}

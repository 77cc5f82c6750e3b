import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { sendArtifact } from '#lib/artifacts';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { Changes } from '../reading/changes.js';
import { Reviews } from '../reviewing/reviews.js';
import {
  ApproveChangeDto,
  ChangePageDto,
  ChangesQuery,
  CloseChangeDto,
  CommentOnChangeDto,
  RequestChangesDto,
  WholeChangeDto,
} from './changes.dto.js';

const REVIEWERS = { role: 'MEMBER', scope: 'changes:review' } as const;
const READERS = { kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' } as const;

@ApiTags('Changes')
@Controller('changes')
@ApiErrors('validation_failed')
export class ChangesController {
  constructor(
    private readonly changes: Changes,
    private readonly reviews: Reviews,
  ) {}

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'List changes, the newest first' })
  @ApiOkResponse({ type: ChangePageDto })
  @ApiErrors('malformed_cursor', 'repository_not_found')
  list(@CurrentCaller() caller: Caller, @Query() query: ChangesQuery) {
    return this.changes.list(caller, query);
  }

  @Get(':id')
  @Auth(READERS)
  @ApiOperation({ summary: 'Get a change with its proofs, reviews and cost' })
  @ApiOkResponse({ type: WholeChangeDto })
  @ApiErrors('change_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.changes.get(caller, id);
  }

  @Get(':id/diff')
  @Auth(READERS)
  @ApiOperation({
    operationId: 'getChangeDiff',
    summary: 'Get the diff of the last submission',
    description: 'It has at most 5 MB. A longer one is cut, and its last line says so.',
  })
  @ApiOkResponse({ content: { 'text/x-diff': { schema: { type: 'string' } } } })
  @ApiErrors('change_not_found', 'artifact_not_found')
  async diff(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendArtifact(reply, await this.changes.diff(caller, id));
  }

  @Post(':id/approve')
  @HttpCode(200)
  @Auth(REVIEWERS)
  @ApiOperation({
    operationId: 'approveChange',
    summary: 'Approve the head commit of a change, which is then rebased, proven and merged',
  })
  @ApiOkResponse({ type: WholeChangeDto })
  @ApiErrors('change_not_found', 'change_moved', 'illegal_transition')
  approve(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ApproveChangeDto,
  ) {
    return this.reviews.approve(caller, id, body);
  }

  @Post(':id/request-changes')
  @HttpCode(200)
  @Auth(REVIEWERS)
  @ApiOperation({
    operationId: 'requestChanges',
    summary: 'Send a change back to its agent with comments',
  })
  @ApiOkResponse({ type: WholeChangeDto })
  @ApiErrors('change_not_found', 'change_moved', 'illegal_transition')
  requestChanges(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: RequestChangesDto,
  ) {
    return this.reviews.requestChanges(caller, id, body);
  }

  @Post(':id/comment')
  @HttpCode(200)
  @Auth(REVIEWERS)
  @ApiOperation({
    operationId: 'commentOnChange',
    summary: 'Comment on a change; its next run reads it',
  })
  @ApiOkResponse({ type: WholeChangeDto })
  @ApiErrors('change_not_found')
  comment(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: CommentOnChangeDto,
  ) {
    return this.reviews.comment(caller, id, body);
  }

  @Post(':id/merge')
  @HttpCode(200)
  @Auth(REVIEWERS)
  @ApiOperation({
    operationId: 'mergeChange',
    summary: 'Ask hosts to go on with a change now: its merge, or the step that they gave up',
  })
  @ApiOkResponse({ type: WholeChangeDto })
  @ApiErrors('change_not_found', 'illegal_transition')
  merge(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.reviews.merge(caller, id);
  }

  @Post(':id/close')
  @HttpCode(200)
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @ApiOperation({
    operationId: 'closeChange',
    summary: 'Close a change: cancel its task, discard its work and remove its branch',
  })
  @ApiOkResponse({ type: WholeChangeDto })
  @ApiErrors('change_not_found', 'illegal_transition')
  close(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() { reason }: CloseChangeDto,
  ) {
    return this.reviews.close(caller, id, reason);
  }
}

import { Controller, Delete, Get, Headers, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiErrors, BodyStream, type Streamed, StreamedBody, UuidParam } from '#lib/http';
import { Auth, CurrentCaller, Public } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '#lib/runs';
import { refuseReserved } from '../domain/artifact-file.js';
import { Artifacts } from '../reading/artifacts.js';
import { ArtifactUploads } from '../uploads/artifact-uploads.js';
import { ArtifactDto, ArtifactPageDto, ArtifactsQuery, DownloadQuery } from './artifacts.dto.js';
import { sendArtifact } from './send-artifact.js';

const READERS = { kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' } as const;
const FILE = { type: 'string', format: 'binary' } as const;
const ANY_TYPE = 'application/octet-stream';

@ApiTags('Artifacts')
@Controller()
export class ArtifactsController {
  constructor(
    private readonly artifacts: Artifacts,
    private readonly uploads: ArtifactUploads,
  ) {}

  @Put('runs/:runId/artifacts/:name')
  @Auth({ kinds: ['agent', 'run'] })
  @StreamedBody()
  @ApiOperation({
    operationId: 'saveArtifact',
    summary: 'Store a file of a run, or replace that of the same name',
    description:
      'The body is the file, with its media type in Content-Type. The server refuses files ' +
      'with a secret of the task or a key of a known format. A run accepts files until 15 ' +
      'minutes after its end. Only the token of an agent stores `change.diff`.',
  })
  @ApiParam({
    name: 'name',
    description: 'A relative path of at most 500 bytes, whose slashes are encoded as %2F.',
    schema: { type: 'string', maxLength: 500 },
    example: 'haiku.txt',
  })
  @ApiHeader({
    name: 'Content-Digest',
    required: false,
    description: 'The SHA-256 hash of the body, which the server compares (RFC 9530).',
    schema: { type: 'string', example: 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:' },
  })
  @ApiConsumes(ANY_TYPE)
  @ApiBody({ schema: FILE })
  @ApiOkResponse({ type: ArtifactDto })
  @ApiErrors('validation_failed', 'malformed_header', 'run_not_found', 'stale_run')
  @ApiErrors('artifact_too_large', 'artifact_has_secret', 'digest_mismatch')
  @ApiErrors('artifact_quota', 'artifact_limit', 'artifacts_disabled', 'unsupported_media_type')
  @ApiErrors('artifact_reserved')
  save(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Param('name') name: string,
    @BodyStream() body: Streamed,
    @Headers('content-digest') digest?: string,
  ) {
    if (caller.kind === 'run') refuseReserved(name);
    return this.uploads.put(reporterOf(caller, runId), { name, digest, ...body });
  }

  @Get('agent-tasks/:id/artifacts')
  @Auth(READERS)
  @ApiOperation({ summary: 'List the artifacts of a task, the newest first' })
  @ApiOkResponse({ type: ArtifactPageDto })
  @ApiErrors('task_not_found', 'run_not_found', 'malformed_cursor')
  list(
    @CurrentCaller() caller: Caller,
    @UuidParam() taskId: string,
    @Query() query: ArtifactsQuery,
  ) {
    return this.artifacts.list(caller, taskId, query);
  }

  @Get('artifacts/:id')
  @Auth(READERS)
  @ApiOperation({ summary: 'Get an artifact with a new link to its content' })
  @ApiOkResponse({ type: ArtifactDto })
  @ApiErrors('artifact_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.artifacts.get(caller, id);
  }

  @Delete('artifacts/:id')
  @HttpCode(204)
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @ApiOperation({ summary: 'Remove an artifact and its content' })
  @ApiNoContentResponse()
  @ApiErrors('artifact_not_found')
  remove(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.artifacts.remove(caller, id);
  }

  @Get('artifacts/:id/content')
  @Public()
  @ApiOperation({
    operationId: 'getArtifactContent',
    summary: 'Download an artifact by its signed link',
    description: 'It needs no credentials beside the token of the link, and serves parts (Range).',
  })
  @ApiOkResponse({ content: { [ANY_TYPE]: { schema: FILE } } })
  @ApiErrors('artifact_not_found', 'invalid_token', 'token_expired')
  async download(
    @UuidParam() id: string,
    @Query() { token }: DownloadQuery,
    @Res() reply: FastifyReply,
    @Headers('range') range?: string,
  ): Promise<void> {
    sendArtifact(reply, await this.artifacts.download(id, token, range));
  }
}

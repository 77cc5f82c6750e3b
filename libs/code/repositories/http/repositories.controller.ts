import { Body, Controller, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent, IfMatch, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { Repositories } from '../repositories/repositories.js';
import { RepositoryDto, RepositoryPageDto } from './repository.dto.js';
import {
  ChangeRepositoryDto,
  CreateRepositoryDto,
  ListRepositoriesQuery,
} from './repository-requests.dto.js';

const READ = { scope: 'projects:read' } as const;
/** Its scripts run on the hosts, with its secrets. */
const WRITE = { role: 'ADMIN', scope: 'workspace:admin' } as const;

@ApiTags('Repositories')
@Controller('repositories')
export class RepositoriesController {
  constructor(private readonly repositories: Repositories) {}

  @Post()
  @Versioned()
  @Idempotent()
  @Auth(WRITE)
  @ApiOperation({ summary: 'Create a repository on which agents work' })
  @ApiCreatedResponse({ type: RepositoryDto })
  @ApiErrors('validation_failed', 'project_not_found', 'repository_exists')
  create(@CurrentCaller() caller: Caller, @Body() body: CreateRepositoryDto) {
    return this.repositories.create(caller, body);
  }

  @Get()
  @Auth(READ)
  @ApiOperation({ summary: 'List repositories, the oldest first' })
  @ApiOkResponse({ type: RepositoryPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() query: ListRepositoriesQuery) {
    return this.repositories.list(caller, query);
  }

  @Get(':id')
  @Versioned()
  @Auth(READ)
  @ApiOperation({ summary: 'Get a repository' })
  @ApiOkResponse({ type: RepositoryDto })
  @ApiErrors('validation_failed', 'repository_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam('id') id: string) {
    return this.repositories.get(caller, id);
  }

  @Patch(':id')
  @Versioned()
  @Auth(WRITE)
  @ApiOperation({
    summary: 'Change a repository',
    description: 'Runs and proofs that begin from now on have the change.',
  })
  @ApiOkResponse({ type: RepositoryDto })
  @ApiErrors(
    'validation_failed',
    'project_not_found',
    'repository_not_found',
    'repository_exists',
    'version_mismatch',
    'secrets_unreadable',
  )
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Body() body: ChangeRepositoryDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.repositories.change(caller, id, body, version);
  }

  @Post(':id/archive')
  @HttpCode(200)
  @Versioned()
  @Auth(WRITE)
  @ApiOperation({
    summary: 'Archive a repository; its changes go on',
    description: 'It accepts no more tasks, and its name is free.',
  })
  @ApiOkResponse({ type: RepositoryDto })
  @ApiErrors('validation_failed', 'repository_not_found', 'version_mismatch')
  archive(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @IfMatch() version: number | undefined,
  ) {
    return this.repositories.archive(caller, id, version);
  }
}

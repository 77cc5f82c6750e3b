import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { startIdentityApp } from '../testing/app.js';
import { Auth, Public } from './decorators.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db?.drop());

describe('an application', () => {
  @Controller('forgotten')
  class ForgottenController {
    @Get('open')
    @Public()
    open() {
      return {};
    }

    @Get('forgotten')
    forgotten() {
      return {};
    }

    @Get('scopeless')
    @Auth()
    scopeless() {
      return {};
    }
  }

  it('an application with an undecided route does not start', async () => {
    const start = startIdentityApp(db, { controllers: [ForgottenController] });
    const message: string = await start.then(
      () => 'started',
      (error: Error) => error.message,
    );
    expect(message).toContain('ForgottenController.forgotten has neither @Auth nor @Public');
    expect(message).toContain('ForgottenController.scopeless accepts API keys but names no scope');
    expect(message).not.toContain('ForgottenController.open');
  });
});

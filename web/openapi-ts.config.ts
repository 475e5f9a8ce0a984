// Generates types, client and query options from the server's OpenAPI document (`leadline
// openapi`).
import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: './openapi.json',
  output: { path: process.env.GENERATE_INTO ?? 'src/api/generated' },
  parser: {
    // Plans and imports are read-only although they are POST requests: the job is in the body.
    hooks: {
      operations: { isQuery: ({ id }) => (/^(plan|import)/.test(id ?? '') ? true : undefined) },
    },
  },
  plugins: [
    '@hey-api/client-fetch',
    '@hey-api/typescript',
    '@hey-api/sdk',
    { name: '@tanstack/react-query', mutationOptions: false },
  ],
});

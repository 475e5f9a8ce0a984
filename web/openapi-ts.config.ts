// How types and client follow from the server's OpenAPI document (`openapi.json`, written by `leadline openapi`).
import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: './openapi.json',
  output: { path: process.env.GENERATE_INTO ?? 'src/api/generated' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
});

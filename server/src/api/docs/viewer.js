// Starts Swagger UI in the theme of the web application, which Mantine stores under this key.
const theme = localStorage.getItem('mantine-color-scheme-value');
const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches;
const dark = theme === 'dark' || (theme !== 'light' && prefersDark);
document.documentElement.classList.toggle('dark-mode', dark);

SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#swagger-ui', deepLinking: true });

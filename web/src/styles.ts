// Style sheets that all pages need.
import '@mantine/core/styles/baseline.css';
import '@mantine/core/styles/global.css';
import './ui/library.css';
import './ui/base.css';
import './ui/parts.css';
